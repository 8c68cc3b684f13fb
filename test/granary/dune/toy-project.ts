import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The size of a toy project: modules in libraries, each of which depends on the previous ones. */
export interface ToyProject {
  readonly libraries: number;
  readonly modulesPerLibrary: number;
}

/** More than sixty modules, on which the figures of this directory are based. */
export const sixtyModules: ToyProject = { libraries: 6, modulesPerLibrary: 10 };

/** Enough rules for most tests. */
export const smallToy: ToyProject = { libraries: 2, modulesPerLibrary: 3 };

/** Writes the same bytes for the same project on every machine. */
export async function writeToyProject(root: string, project: ToyProject): Promise<void> {
  await mkdir(join(root, "bin"), { recursive: true });
  await writeFile(join(root, "dune-project"), "(lang dune 2.9)\n");
  for (let library = 0; library < project.libraries; library++) {
    const folder = join(root, `lib${library}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "dune"), libraryFile(library));
    for (let module = 0; module < project.modulesPerLibrary; module++) {
      await writeFile(
        join(folder, `${nameOf(library, module)}.ml`),
        implementation(project, library, module),
      );
      await writeFile(
        join(folder, `${nameOf(library, module)}.mli`),
        "val work : int -> int\n\ntype t = { left : int; right : string }\n\nval show : t -> string\n",
      );
    }
  }
  const all = Array.from({ length: project.libraries }, (_, library) => `lib${library}`);
  await writeFile(
    join(root, "bin/dune"),
    `(executable\n (name main)\n (libraries ${all.join(" ")}))\n`,
  );
  await writeFile(
    join(root, "bin/main.ml"),
    `let () = print_int (${all.map((name, library) => `${capital(name)}.${capital(nameOf(library, project.modulesPerLibrary - 1))}.work ${library + 1}`).join(" + ")})\n`,
  );
}

/** Changes the implementation of the last module of the last library, but not its interface. */
export async function changeLeaf(root: string, project: ToyProject, salt: number): Promise<void> {
  const [library, module] = [project.libraries - 1, project.modulesPerLibrary - 1];
  await writeFile(
    join(root, `lib${library}/${nameOf(library, module)}.ml`),
    `${implementation(project, library, module)}\nlet _salt = ${salt}\n`,
  );
}

function nameOf(library: number, module: number): string {
  return `m${library}_${module}`;
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function libraryFile(library: number): string {
  const before = Array.from({ length: library }, (_, other) => `lib${other}`);
  return `(library\n (name lib${library})\n (libraries ${before.join(" ")}))\n`;
}

function implementation(project: ToyProject, library: number, module: number): string {
  const uses: string[] = [];
  if (module > 0) uses.push(`${capital(nameOf(library, module - 1))}.work`);
  if (module > 3) uses.push(`${capital(nameOf(library, module - 3))}.work`);
  if (library > 0) {
    const other = (module * 7) % project.modulesPerLibrary;
    uses.push(`Lib${library - 1}.${capital(nameOf(library - 1, other))}.work`);
  }
  // Enough code to give the compiler some work.
  const chew = Array.from(
    { length: 12 },
    (_, n) => `let step${n} table x =
  let rec go acc = function
    | 0 -> List.rev acc
    | k -> go ((k * ${n + module + 1}) mod 7919 :: acc) (k - 1)
  in
  List.iter (fun v -> Hashtbl.replace table (v + x) (Printf.sprintf "%d:%d" v ${n})) (go [] (x mod 50));
  Hashtbl.fold (fun k v sum -> sum + k + String.length v) table 0`,
  );
  const steps = chew.map((_, n) => `step${n} table x`).join(" + ");
  return `type t = { left : int; right : string }

let show t = Printf.sprintf "%d/%s" t.left t.right

${chew.join("\n\n")}

let own x =
  let table = Hashtbl.create 16 in
  ${steps}

let work x = own x${uses.map((use) => ` + ${use} (x mod 3)`).join("")}
`;
}
