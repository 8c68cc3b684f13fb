import type { Kind } from "../kind.ts";
import { directoryOf, type ProjectFiles } from "../repository-files.ts";
import type { StarterJob } from "../starter-job.ts";

const cache = 'export GOMODCACHE="$PWD/.go-modules"';

/** Go modules, and workspaces of them (go.work). */
export const go: Kind = {
  name: "go",
  mark: /^go\.(mod|work)$/,
  // A module below another one is not part of it; below a go.work it is.
  standsAlone: (project) => project.has("go.mod"),
  recognise(project) {
    const members = project.has("go.work") ? membersOf(project.text("go.work") ?? "") : [];
    const modules = members.length === 0 ? [""] : members;
    const packages = modules.map((module) => `./${module === "" ? "" : `${module}/`}...`).join(" ");
    const requires = modules.some((module) => {
      const text = project.text(module === "" ? "go.mod" : `${module}/go.mod`) ?? "";
      return /^\s*require\b/m.test(text) || /^toolchain\b/m.test(text);
    });
    const isVendored = project.has("vendor/modules.txt");
    const fetches = requires && !isVendored;
    const test: StarterJob = {
      name: "go/test",
      // One job, because tests use the build's output, especially the standard library.
      commands: [...(fetches ? [cache] : []), `go build ${packages}`, `go test ${packages}`],
      ...(fetches ? { needs: ["go/modules"] } : {}),
    };
    return {
      found: `${members.length === 0 ? "go.mod" : `go.work with ${members.length} modules`}${isVendored ? ", and vendored modules" : ""}`,
      jobs: [...(fetches ? [fetchJob(project, modules)] : []), test],
      tools: [{ program: "go", package: "golang-go" }],
    };
  },
};

function fetchJob(project: ProjectFiles, modules: readonly string[]): StarterJob {
  const files = modules.flatMap((module) => {
    const at = module === "" ? "" : `${module}/`;
    return project.existing(`${at}go.mod`, `${at}go.sum`);
  });
  // Modules of this repository that `replace` names by a path.
  const replaced = project
    .named("go.mod")
    .filter((path) => !files.includes(path) && !modules.includes(directoryOf(path)));
  return {
    name: "go/modules",
    comment: "Needs the network; runs again only when these files change.",
    // Without this option, files of the module cache are read-only, and could not be removed with the job's directory.
    commands: [
      cache,
      "export GOFLAGS=-modcacherw",
      "go mod download",
      "rm -rf .go-modules/cache/vcs",
    ],
    inputs: [...project.existing("go.work", "go.work.sum"), ...files, ...replaced],
    outputs: [".go-modules"],
    network: true,
  };
}

/** Returns the directories in the repository that a go.work uses: `use ./a` and `use ( ./a ./b )`. */
function membersOf(text: string): string[] {
  const blocks = [...text.matchAll(/^use\s*\(([^)]*)\)/gm)].map((match) => match[1] ?? "");
  const lines = [...text.matchAll(/^use\s+([^(\s]+)/gm)].map((match) => match[1] ?? "");
  const written = [...blocks.flatMap((block) => block.split("\n")), ...lines];
  return written
    .map((line) =>
      line
        .replace(/\/\/.*/, "")
        .trim()
        .replaceAll('"', ""),
    )
    .filter((path) => path !== "" && !path.includes(".."))
    .map((path) => path.replace(/^\.\/?/, "").replace(/\/$/, ""));
}
