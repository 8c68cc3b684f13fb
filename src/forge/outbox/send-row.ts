import type { Forge, ForgeComment, ForgeSlug } from "../forge.ts";
import { asSent, hasMarker, isUntilReport, withMarker } from "./marker.ts";
import type { LeasedRow } from "./outbox.store.ts";
import { byRemoteId } from "./remote-order.ts";

export interface SendingServices {
  readonly forge: Forge;
  readonly slug: ForgeSlug;
  /** Called before each call that makes something new; throws when the row is not ours any more. */
  readonly beforeMaking: () => void;
}

export interface SentRow {
  /** The forge's number of what shows it; null: it has none. */
  readonly remoteId: string | null;
  /** Names of comments that it makes superfluous. */
  readonly superfluous: readonly string[];
}

const sent: SentRow = { remoteId: null, superfluous: [] };

/** Makes the forge show what a row wants, whatever it shows now. Done again, it changes nothing. */
export async function sendRow(services: SendingServices, row: LeasedRow): Promise<SentRow> {
  const { forge, slug } = services;
  const { content, key } = row;
  switch (content.kind) {
    case "comment": {
      const { comments, id } = await placeComment(
        services,
        content.pull,
        key,
        withMarker(key, content.body),
      );
      return { remoteId: id, superfluous: superfluousFor(comments) };
    }
    case "reply": {
      const body = withMarker(key, content.body, content.isUntilReport);
      return { ...sent, remoteId: (await placeComment(services, content.pull, key, body)).id };
    }
    case "check":
      return { ...sent, remoteId: await placeCheck(services, content.check) };
    case "reaction":
      // Given twice, it is there once.
      await forge.react(slug, content.comment, content.reaction);
      return sent;
    case "label": {
      const isThere = (await forge.labelsOf(slug, content.pull)).includes(content.name);
      if (isThere === content.isThere) return sent;
      if (content.isThere) await forge.addLabels(slug, content.pull, [content.name]);
      else await forge.removeLabel(slug, content.pull, content.name);
      return sent;
    }
    case "minimise":
      await forge.minimiseComment(slug, content.node);
      return sent;
  }
}

/** Writes a comment once: the first of those with our marker stays, and further ones go. */
async function placeComment(
  { forge, slug, beforeMaking }: SendingServices,
  pull: number,
  key: string,
  body: string,
): Promise<{ readonly id: string; readonly comments: readonly ForgeComment[] }> {
  const comments = (await forge.commentsOf(slug, pull)).filter(({ isOurs }) => isOurs);
  const [first, ...doubles] = comments
    .filter((comment) => hasMarker(comment.body, key))
    .toSorted(byRemoteId);
  if (first === undefined) {
    beforeMaking();
    return { id: (await forge.createComment(slug, pull, body)).id, comments };
  }
  if (asSent(first.body) !== body) await forge.updateComment(slug, first.id, body);
  for (const { id } of doubles) await forge.deleteComment(slug, id);
  return { id: first.id, comments };
}

/** A check run cannot be removed: doubles say the same. */
async function placeCheck(
  { forge, slug, beforeMaking }: SendingServices,
  check: Parameters<Forge["createCheck"]>[1],
): Promise<string> {
  const ours = (await forge.checksOf(slug, check.sha))
    .filter(({ externalId }) => externalId === check.externalId)
    .toSorted(byRemoteId);
  const [first] = ours;
  if (first === undefined) {
    beforeMaking();
    return forge.createCheck(slug, check);
  }
  for (const { id } of ours) await forge.updateCheck(slug, id, check);
  return first.id;
}

/** Answers to commands that wait for this report. */
function superfluousFor(comments: readonly ForgeComment[]): string[] {
  return comments.filter(({ body }) => isUntilReport(body)).map(({ nodeId }) => nodeId);
}
