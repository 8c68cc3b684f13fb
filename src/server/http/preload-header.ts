import { pathOfCall } from "#api/endpoint.ts";
import { jobEndpoints } from "#api/endpoints/job-endpoints.ts";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { defaultTimelineMinutes } from "#api/worker-timeline.ts";
import { scriptOfPage } from "./page-script.ts";

interface Page {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The directory of the scripts, which its document names. */
  readonly assets: string | undefined;
}

/**
 * Returns the `Link` header of a page's document: what the page needs soon, and the browser would otherwise learn of only
 * when the first script has run. Undefined when there is nothing.
 */
export function preloadHeader(page: Page): string | undefined {
  const links = [firstRequest(page), ownScript(page)].filter((link) => link !== undefined);
  return links.length === 0 ? undefined : links.join(", ");
}

/** Returns the directory of the scripts in a built document. */
export function assetsOf(html: string): string | undefined {
  return /src="(\/assets\/\w+)\/first\.js"/.exec(html)?.[1];
}

/** The script of the group of pages. */
function ownScript({ path, assets }: Page): string | undefined {
  const script = scriptOfPage(path);
  if (assets === undefined || script === undefined) return undefined;
  return `<${assets}/${script}>; rel=modulepreload`;
}

/**
 * The request that the page makes first, for pages whose first answer takes longer than their scripts.
 *
 * The address must be the same as that of the page, character by character: another one would be a second request.
 */
function firstRequest({ path, query }: Page): string | undefined {
  const [, graph, job] = /^\/graphs\/([\da-f-]+)\/jobs\/([\w.~-]+)$/.exec(path) ?? [];
  if (graph !== undefined && job !== undefined)
    return requestOf(pathOfCall(jobEndpoints.jobPage, { graph, job }, {}));
  if (path !== "/workers/timeline") return undefined;
  const minutes = query["minutes"] ?? String(defaultTimelineMinutes);
  if (!/^[1-9]\d{0,4}$/.test(minutes)) return undefined;
  return requestOf(pathOfCall(workerEndpoints.workerTimeline, {}, { minutes }));
}

function requestOf(call: string): string {
  return `</api/v1${call}>; rel=preload; as=fetch; crossorigin`;
}
