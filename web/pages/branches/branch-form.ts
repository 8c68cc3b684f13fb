import { BranchBody } from "#api/branch.ts";

/** The settings of a branch in its form: texts, empty for inherited values. */
export interface BranchForm {
  readonly protected: "" | "yes" | "no";
  readonly customisable: "" | "yes" | "no";
  /** A number, or `none`. */
  readonly priorityCap: string;
  /** JSON. */
  readonly switches: string;
  readonly parameters: string;
  readonly sourceKind: "" | "commit" | "repository" | "directory" | "pushed";
  readonly sourceRepository: string;
  readonly sourceRev: string;
  readonly sourcePath: string;
}

export function formOf(body: BranchBody | null): BranchForm {
  const source = body?.source;
  return {
    protected: yesOrNo(body?.protected),
    customisable: yesOrNo(body?.customisable),
    priorityCap: body?.priorityCap === null ? "none" : String(body?.priorityCap ?? ""),
    switches: jsonOf(body?.switches),
    parameters: jsonOf(body?.parameters),
    sourceKind: source?.kind ?? "",
    sourceRepository: source?.kind === "repository" ? source.repository : "",
    sourceRev: source?.kind === "repository" ? source.rev : "",
    sourcePath: source?.kind === "directory" ? source.path : "",
  };
}

/** Returns the settings in the form; a message when they are invalid. */
export function bodyOf(form: BranchForm): BranchBody | string {
  const switches = readJson(form.switches);
  if (switches === unreadable) return 'Switches are not JSON: write them as {"pgo": true}.';
  const parameters = readJson(form.parameters);
  if (parameters === unreadable) return 'Parameters are not JSON: write them as {"level": 3}.';
  const body = BranchBody.safeParse({
    ...(form.protected === "" ? {} : { protected: form.protected === "yes" }),
    ...(form.customisable === "" ? {} : { customisable: form.customisable === "yes" }),
    ...(form.priorityCap.trim() === "" ? {} : { priorityCap: capOf(form.priorityCap.trim()) }),
    ...(switches === undefined ? {} : { switches }),
    ...(parameters === undefined ? {} : { parameters }),
    ...sourceOf(form),
  });
  if (body.success) return body.data;
  const [issue] = body.error.issues;
  return `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "cannot be read"}`;
}

function sourceOf(form: BranchForm): { source?: unknown } {
  switch (form.sourceKind) {
    case "":
      return {};
    case "commit":
    case "pushed":
      return { source: { kind: form.sourceKind } };
    case "directory":
      return { source: { kind: "directory", path: form.sourcePath } };
    case "repository": {
      const rev = form.sourceRev === "" ? {} : { rev: form.sourceRev };
      return { source: { kind: "repository", repository: form.sourceRepository, ...rev } };
    }
  }
}

const capOf = (text: string) => (text === "none" ? null : Number(text));

const unreadable = Symbol("unreadable");

function readJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return unreadable;
  }
}

function jsonOf(value: object | undefined): string {
  return value === undefined ? "" : JSON.stringify(value, undefined, 2);
}

function yesOrNo(value: boolean | undefined): "" | "yes" | "no" {
  if (value === undefined) return "";
  return value ? "yes" : "no";
}
