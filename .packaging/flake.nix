# SPDX-License-Identifier: MIT
# nix run 'git+https://HOST/OWNER/fastnet?dir=.packaging' -- s
{
  description = "Show sockets, traffic and drops, and what is wrong with the network";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      makefile = builtins.readFile ../Makefile;
      version = builtins.head (builtins.match ".*\nVERSION = ([^\n]*)\n.*" makefile);
      package = pkgs: pkgs.stdenv.mkDerivation {
        pname = "fastnet";
        inherit version;
        src = ../.;
        nativeBuildInputs = [ pkgs.pkg-config ];
        buildInputs = [ pkgs.libcap pkgs.libmnl ];
        makeFlags = [ "LIBCAP=-lcap" "PREFIX=${placeholder "out"}" ];
        meta = {
          description = "Show sockets, traffic and drops, and what is wrong with the network";
          license = pkgs.lib.licenses.mit;
          mainProgram = "fastnet";
          platforms = pkgs.lib.platforms.linux;
        };
      };
    in {
      packages = nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
    };
}
