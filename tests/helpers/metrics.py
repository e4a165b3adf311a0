# SPDX-License-Identifier: MIT
"""Reads metrics with the parsers of prometheus_client.

    metrics.py FORMAT families FILE             each family: its name, its type, its unit
    metrics.py FORMAT label FAMILY LABEL FILE   the values of a label, newlines as \\x0a

FORMAT is prometheus or openmetrics. A family that is there twice, or two metrics with the same
labels, end it with status 1.
"""

import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_prometheus

READERS = {"prometheus": read_prometheus, "openmetrics": read_openmetrics}


def main(form, what, *rest):
    with open(rest[-1], encoding="utf-8", newline="") as file:
        families = list(READERS[form](file.read()))
    names = [family.name for family in families]
    if len(names) != len(set(names)):
        sys.exit("a family is there twice")
    for family in families:
        metrics = [(sample.name, *sorted(sample.labels.items())) for sample in family.samples]
        if not metrics or len(metrics) != len(set(metrics)):
            sys.exit(f"{family.name}: no metric, or one that is there twice")
        if any(sample.timestamp for sample in family.samples) or not family.documentation:
            sys.exit(f"{family.name}: a timestamp, or no help")
        if what == "families":
            print(family.name, family.type, family.unit or "-")
        elif family.name == rest[0]:
            for sample in family.samples:
                print(sample.labels.get(rest[1], "").replace("\n", "\\x0a"))


main(*sys.argv[1:])
