import { pathOfCall } from "#api/endpoint.ts";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { defaultTimelineMinutes } from "#api/worker-timeline.ts";

/**
 * Returns the `Link` header of a page's document, with the request that the page makes first: the browser sends it while
 * it loads and runs the scripts. Undefined for pages whose first answer is ready sooner than their scripts.
 *
 * The address must be the same as that of the page, character by character: another one would be a second request.
 */
export function preloadHeader(
  path: string,
  query: Readonly<Record<string, string>>,
): string | undefined {
  if (path !== "/workers/timeline") return undefined;
  const minutes = query["minutes"] ?? String(defaultTimelineMinutes);
  if (!/^[1-9]\d{0,4}$/.test(minutes)) return undefined;
  const call = pathOfCall(workerEndpoints.workerTimeline, {}, { minutes });
  return `</api/v1${call}>; rel=preload; as=fetch; crossorigin`;
}
