import type { FoundObject } from "#api/find.ts";
import { shownText } from "../../parts/shown-text.ts";

interface FoundEntry {
  readonly label: string;
  readonly note: string;
  readonly href: string;
}

const part = encodeURIComponent;

/** Returns how the palette shows an object of the farm, and the address of its page. */
export function foundEntry(found: FoundObject): FoundEntry {
  switch (found.kind) {
    case "repository":
      return { label: found.name, note: "", href: `/repositories/${part(found.name)}` };
    case "graph":
      return {
        label: shownText(found.subject),
        note: `${found.repository} · ${found.branch} · ${found.commit.slice(0, 8)} · ${found.state}`,
        href: `/graphs/${part(found.id)}`,
      };
    case "job":
      return {
        label: shownText(found.name),
        note: `${found.repository} · ${found.branch} · ${found.state}`,
        href: `/graphs/${part(found.graph)}/jobs/${part(found.name)}`,
      };
    case "execution":
      return { label: found.id, note: "", href: `/executions/${part(found.id)}` };
    case "invocation": {
      const { id, project, tool, principal } = found;
      const query = project === "default" ? "" : `?project=${part(project)}`;
      return {
        label: `${tool === "" ? "Invocation" : tool} ${id.slice(0, 13)}`,
        note: `${project} · ${principal}`,
        href: `/invocations/${part(id)}${query}`,
      };
    }
    case "benchmark":
      return {
        label: found.case.replaceAll(" - ", " "),
        note: found.suite,
        href: `/benchmarks/series?suite=${part(found.suite)}&case=${part(found.case)}`,
      };
    case "worker":
      return { label: found.name, note: "", href: `/workers#${part(found.name)}` };
  }
}
