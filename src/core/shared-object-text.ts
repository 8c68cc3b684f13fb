import type { SharedObject } from "./shared-object.ts";

/** Describes for people what a share link opens. Names in it are as their authors wrote them. */
export function sharedObjectText(object: SharedObject): string {
  switch (object.kind) {
    case "log": {
      const of = object.batch === undefined ? "" : `batch ${object.batch} of `;
      return `the log of ${of}run ${object.run} of ${object.job} in ${object.graph.slice(0, 8)}`;
    }
    case "output":
      return `${object.path} of run ${object.run} of ${object.job} in ${object.graph.slice(0, 8)}`;
    case "comparison":
      return `${object.suite}: ${object.before} and ${object.after} by ${object.metric}`;
  }
}
