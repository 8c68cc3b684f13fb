import type { InvocationSummary } from "#api/invocation.ts";
import { shownText } from "../../parts/shown-text.ts";

type Told = Pick<InvocationSummary, "tool" | "build" | "id" | "project" | "principal">;

/** What was asked for, as it was typed: `bazel test //...`; of tools that do not tell, their name. */
export function titleOf({ tool, build }: Pick<Told, "tool" | "build">): string {
  const name = tool.name === "" ? "a build tool" : tool.name;
  const words = build === null ? [name] : [name, build.command, ...build.patterns];
  return shownText(words.filter((word) => word !== "").join(" "));
}

/** Who asked, and where: `ada@laptop`; of tools that do not tell, whose token it was. */
export function askerOf({ build, principal }: Pick<Told, "build" | "principal">): string {
  if (build === null || build.user === "") return shownText(principal);
  return shownText(build.host === "" ? build.user : `${build.user}@${build.host}`);
}

/** Whether a row has a text in what it shows. */
export function isFound(invocation: Told, text: string): boolean {
  const { build, id, project } = invocation;
  const shown = [
    titleOf(invocation),
    askerOf(invocation),
    id,
    project,
    build?.branch ?? "",
    build?.commit ?? "",
    build?.repository ?? "",
  ];
  return shown.join("\n").toLowerCase().includes(text.trim().toLowerCase());
}
