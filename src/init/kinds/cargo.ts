import type { Kind } from "../kind.ts";
import type { ProjectFiles } from "../repository-files.ts";
import type { StarterJob } from "../starter-job.ts";

const home = 'export CARGO_HOME="$PWD/.cargo-home"';

/** Cargo packages and workspaces. */
export const cargo: Kind = {
  name: "cargo",
  mark: /^Cargo\.toml$/,
  recognise(project) {
    const manifest = project.text("Cargo.toml") ?? "";
    const isWorkspace = /^\s*\[workspace[\].]/m.test(manifest);
    const toolchain = ["rust-toolchain.toml", "rust-toolchain"].find((name) => project.has(name));
    const all = isWorkspace ? " --workspace" : "";
    const locked = project.has("Cargo.lock");
    const jobs = !locked
      ? [testJob(all, "free")]
      : hasDependencies(project)
        ? [fetchJob(project), testJob(all, "fetched")]
        : [testJob(all, "locked")];
    return {
      found: `${isWorkspace ? "Cargo workspace" : "Cargo.toml"}${locked ? ", and Cargo.lock" : ""}`,
      jobs,
      tools: [
        { program: "cargo", package: "cargo" },
        { program: "cc", package: "gcc" },
      ],
      notes:
        toolchain === undefined
          ? []
          : [
              `${toolchain} does not choose the toolchain: jobs use the cargo on their worker's PATH`,
            ],
    };
  },
};

/** Whether a package of the repository depends on another package, which may have to be fetched. */
function hasDependencies(project: ProjectFiles): boolean {
  return project
    .named("Cargo.toml")
    .some((path) => /^\s*\[(.+\.)?(dev-|build-)?dependencies[\].]/m.test(project.text(path) ?? ""));
}

function fetchJob(project: ProjectFiles): StarterJob {
  // Cargo refuses a manifest with missing targets.
  const namesTargets = project
    .named("Cargo.toml")
    .some((path) => /^\s*\[(lib|\[(bin|test|bench|example)\])\]/m.test(project.text(path) ?? ""));
  return {
    name: "cargo/fetch",
    comment: "Needs the network; the other job takes the downloaded packages from it.",
    commands: [
      home,
      "cargo fetch --locked",
      "rm -rf .cargo-home/registry/src .cargo-home/git/checkouts",
    ],
    inputs: [
      "**/Cargo.toml",
      "Cargo.lock",
      ...(project.hasDirectory(".cargo") ? [".cargo"] : []),
      ...(namesTargets ? ["**/*.rs"] : ["**/build.rs", "**/src/{lib,main}.rs", "**/src/bin/**"]),
    ],
    outputs: [".cargo-home"],
    network: true,
  };
}

/** One job: tests use most of the build's output. */
function testJob(all: string, locking: "locked" | "fetched" | "free"): StarterJob {
  const flags = { locked: " --locked", fetched: " --locked --offline", free: "" }[locking];
  const run = (name: string) => `cargo ${name}${all}${flags}`;
  return {
    name: "cargo/test",
    ...(locking === "free"
      ? { comment: "Needs the network: without a Cargo.lock, Cargo chooses versions each time." }
      : {}),
    commands: [...(locking === "fetched" ? [home] : []), run("build"), run("test")],
    ...(locking === "fetched" ? { needs: ["cargo/fetch"] } : {}),
    network: locking === "free",
  };
}
