import { Fault } from "#core/fault.ts";
import type { Suite } from "#suites/suite.ts";
import { suitePattern } from "#suites/suite-pattern.ts";
import type { Component } from "./component.ts";

/** Returns the suite's command for a component in a folder. */
export function toolOf(
  suite: Suite,
  backend: string,
  component: Component,
  directory: string,
): { readonly tool: string[]; readonly env: Record<string, string> } {
  const defined = Object.hasOwn(suite.backends, backend) ? suite.backends[backend] : undefined;
  if (defined === undefined)
    throw new Fault("not_found", `suite ${suite.suite} has no backend ${backend}`);
  const own = defined.packages.find(
    ({ npm, versions }) =>
      component.kind === "npm" &&
      npm === component.package &&
      (versions === undefined || suitePattern(versions).match(component.version) !== undefined),
  );
  // A tarball or a folder may have the layout of any of the packages. The first layout was tested.
  const tool = own?.tool ?? defined.tool ?? defined.packages[0]?.tool;
  if (tool === undefined)
    throw new Fault("failed_precondition", `suite ${suite.suite} has no command for ${backend}`);
  const fill = (text: string) => text.replaceAll("{artifact}", directory);
  return {
    tool: tool.map(fill),
    env: Object.fromEntries(Object.entries(defined.env).map(([name, text]) => [name, fill(text)])),
  };
}
