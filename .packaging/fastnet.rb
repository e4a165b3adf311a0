# SPDX-License-Identifier: MIT
class Fastnet < Formula
  desc "Show sockets, traffic and drops, and what is wrong with the network"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v@VERSION@/fastnet-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "pkgconf" => :build
  depends_on "libcap"
  depends_on "libmnl"
  depends_on :linux

  def install
    system "make", "install", "LIBCAP=-lcap", "PREFIX=#{prefix}", "UNITDIR="
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/fastnet --version")
    assert_match "PROTO", shell_output("#{bin}/fastnet sockets -t")
  end
end
