# SPDX-License-Identifier: MIT
# The Makefile of OpenWrt's package net/fastnet.
include $(TOPDIR)/rules.mk

PKG_NAME:=fastnet
PKG_VERSION:=@VERSION@
PKG_RELEASE:=1

PKG_SOURCE:=$(PKG_NAME)-$(PKG_VERSION).tar.gz
PKG_SOURCE_URL:=@HOMEPAGE@/releases/download/v$(PKG_VERSION)
PKG_HASH:=@SHA256@

PKG_MAINTAINER:=@MAINTAINER@
PKG_LICENSE:=MIT
PKG_LICENSE_FILES:=LICENSE
PKG_BUILD_PARALLEL:=1

include $(INCLUDE_DIR)/package.mk

define Package/fastnet
  SECTION:=net
  CATEGORY:=Network
  TITLE:=Show sockets, traffic, drops and network faults
  URL:=@HOMEPAGE@
  DEPENDS:=+libcap +libmnl
endef

define Package/fastnet/description
  Shows what the device is talking to, which packets it drops and why, and what is
  wrong with its network. Also lists what netstat, ss, arp and conntrack list.
endef

MAKE_FLAGS+=LIBCAP=-lcap

define Package/fastnet/install
	$(INSTALL_DIR) $(1)/usr/bin
	$(INSTALL_BIN) $(PKG_BUILD_DIR)/fastnet $(1)/usr/bin/
endef

$(eval $(call BuildPackage,fastnet))
