import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { grange } from "../../support/farm.ts";
import { goNeed } from "../../support/needs/go-need.ts";
import { runProgram } from "../../support/process.ts";
import { hashOf, type ToolDriver } from "./tool-driver.ts";

const packages = ["a", "b", "c", "d"];

/**
 * Go with `grange gocacheprog`, whose directory on this machine is empty at each build. The packages import nothing but
 * each other: the standard library would take most of the time.
 */
export const go: ToolDriver = {
  name: "Go",
  need: goNeed,
  prepare: (dir) => goModule(dir, packages),
  async build(dir, cache, token) {
    const local = join(dir, "local");
    await rm(local, { recursive: true, force: true });
    const url = new URL(cache);
    const isFarm = url.pathname.startsWith("/cache/");
    const project = isFarm ? `--project ${url.pathname.slice("/cache/".length)}` : "";
    const env = {
      ...goEnvironment(dir),
      GOCACHEPROG: `${process.execPath} ${grange} gocacheprog ${project} --data ${local}`,
      // A granary has an address for each build.
      ...(isFarm
        ? { GRANGE_SERVER: url.origin, GRANGE_TOKEN: token }
        : { GRANGE_GO_CACHE: `${cache}/gocache` }),
    };
    const options = { cwd: dir, env };
    const built = await runProgram("go", ["build", "-v", "./..."], options);
    // Go prints the packages that it compiles.
    const misses = built.stderr.split("\n").filter((line) => line.startsWith("example.com/"));
    const list = ["list", "-export", "-f", "{{.Export}}", "./..."];
    const { stdout } = await runProgram("go", list, {
      cwd: dir,
      env: {
        ...env,
        GOCACHEPROG: `${process.execPath} ${grange} gocacheprog --local --data ${local}`,
      },
    });
    const files = stdout.split("\n").flatMap((file) => file.slice(dir.length + 1) || []);
    return {
      code: built.code,
      hits: packages.length - misses.length,
      misses: misses.length,
      outputs: await hashOf(dir, files),
      said: built.stderr,
    };
  },
};

/** The variables of a go command that reads nothing of the user, and nothing over the network. */
export function goEnvironment(dir: string) {
  return {
    GOCACHE: join(dir, "unused"),
    GOENV: "off",
    // The standard library is compiled in a third less time: not optimised, and without information for debuggers.
    GOFLAGS: "-mod=mod '-gcflags=all=-N -l -dwarf=false'",
    GOPATH: join(dir, "gopath"),
    GOPROXY: "off",
    GOTELEMETRY: "off",
    GOTOOLCHAIN: "local",
  };
}

/** Writes a module whose packages each import the one before. */
export async function goModule(dir: string, names: readonly string[]): Promise<void> {
  await writeFile(join(dir, "go.mod"), "module example.com/m\n\ngo 1.24\n");
  for (const [i, name] of names.entries()) {
    const before = names[i - 1];
    const [imported, call] =
      before === undefined
        ? ["", "1"]
        : [`import "example.com/m/${before}"\n\n`, `${before}.Value() + 1`];
    await mkdir(join(dir, name), { recursive: true });
    await writeFile(
      join(dir, name, `${name}.go`),
      `package ${name}\n\n${imported}func Value() int { return ${call} }\n`,
    );
  }
}
