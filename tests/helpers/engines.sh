# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# DuckDB and chDB, and the Python beside them, which `make deps-dev` installs below build/; lib.sh is
# sourced before.

# The link itself says where its packages are.
python=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")/build/python/bin/python3

# Ends a script that cannot do without them.
engines_begin() # NAME
{
    # shellcheck disable=SC2034 # scripts use it
    "$python" -c 'import chdb, duckdb' 2>/dev/null && return
    skip "$1" "DuckDB and chDB are not there: make deps-dev"
    exit 0
}

# Commands that take the words of duckdb and clickhouse, as far as examples need them. A select that
# finds no row fails.
engines_commands() # DIRECTORY
{
    cat >"$1/duckdb" <<END
#!$python
import sys
import duckdb

words = [word for word in sys.argv[1:] if word != "-c"]
database, query = duckdb.connect(*words[:-1]), words[-1]
if not query.lstrip().startswith("select"):
    sys.exit(not database.execute(query))
found = database.sql(query)
print(found)
sys.exit(len(found) == 0)
END
    cat >"$1/clickhouse" <<END
#!$python
import sys
from chdb.session import Session

query = sys.argv[sys.argv.index("-q") + 1]
if query.startswith("insert"):
    query += "\n" + sys.stdin.read()
found = Session("$1/tables").query(query, "TSV").bytes()
sys.stdout.buffer.write(found)
sys.exit(query.lstrip().startswith("select") and not found)
END
    chmod 755 "$1/duckdb" "$1/clickhouse"
}
