# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Worlds of the rule nic-queue. No driver that counts packets by queue can be made here, so that its
# faults are only in unit/test_doctor_nic_queues.c.

# An interface of several queues whose driver counts nothing by queue is not tried, without a word.
world_healthy_card_without_counters()
{
    three
    ip -n s tuntap add dev tap0 mode tap multi_queue 2>/dev/null ||
        ip -n s link add tap0 type bridge || not_ok "an interface that is neither lo nor veth"
    ip -n s link set tap0 up && ip -n s addr add 10.9.0.1/24 dev tap0
    talking s 100 10 100 20
}

samples+=(healthy_card_without_counters)
