import type { Kind } from "../kind.ts";

/** OCaml projects that use dune. */
export const dune: Kind = {
  name: "dune",
  mark: /^dune-project$/,
  recognise(project) {
    // With a lock directory dune fetches and builds packages by itself.
    const locked = project.hasDirectory("dune.lock");
    const opam = [...project.paths].filter((path) => /^[^/]+\.opam$/.test(path));
    return {
      found: `dune-project${locked ? ", and dune.lock" : ""}`,
      jobs: [{ name: "dune", commands: ["dune build", "dune runtest"], network: locked }],
      tools: [
        { program: "dune", package: "ocaml-dune" },
        { program: "ocaml", package: "ocaml-nox" },
      ],
      notes:
        locked || opam.length === 0
          ? []
          : [
              `packages that ${opam.join(", ")} ${opam.length === 1 ? "names" : "name"} must be installed on the worker, in the opam switch on its PATH`,
            ],
    };
  },
};
