import type { InvocationSummary } from "#api/invocation.ts";
import { shownText } from "../../parts/shown-text.ts";

type Told = Pick<InvocationSummary, "tool" | "build" | "id" | "project" | "principal">;

/** Returns the command as it was typed: `bazel test //...`; for tools that do not report it, their name. */
export function titleOf({ tool, build }: Pick<Told, "tool" | "build">): string {
  const name = tool.name === "" ? "a build tool" : tool.name;
  const words = build === null ? [name] : [name, build.command, ...build.patterns];
  return shownText(words.filter((word) => word !== "").join(" "));
}

/** Returns the user and the machine: `ada@laptop`; for tools that do not report them, the principal of the token. */
export function askerOf({ build, principal }: Pick<Told, "build" | "principal">): string {
  if (build === null || build.user === "") return shownText(principal);
  return shownText(build.host === "" ? build.user : `${build.user}@${build.host}`);
}

/** Whether a row's visible text contains a text. */
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
