import { textAnswer } from "./plain-rules.ts";
import type { Answer, CacheEntry } from "./tool-rules.ts";

/** WebDAV's answer about a folder (RFC 4918, section 9.1). Our folders have no modification time. */
export function davOfFolder(path: string): Answer {
  const href = path.endsWith("/") ? path : `${path}/`;
  return multiStatus(href, "<D:resourcetype><D:collection/></D:resourcetype>", new Date(0));
}

/** The same about a file, or 404. */
export function davOfFile(path: string, entry: CacheEntry | undefined): Answer {
  if (entry === undefined) return textAnswer(404, "there is no such entry");
  const { digest, createdAt } = entry;
  const about = `<D:resourcetype/><D:getcontentlength>${digest.sizeBytes}</D:getcontentlength><D:getetag>"${digest.hash}"</D:getetag>`;
  return multiStatus(path, about, createdAt);
}

function multiStatus(href: string, about: string, modifiedAt: Date): Answer {
  const body = `<?xml version="1.0" encoding="utf-8"?>
<D:multistatus xmlns:D="DAV:"><D:response><D:href>${escaped(href)}</D:href><D:propstat><D:prop>${about}<D:getlastmodified>${modifiedAt.toUTCString()}</D:getlastmodified></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>
`;
  return { status: 207, headers: { "content-type": "application/xml; charset=utf-8" }, body };
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
