import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { shareEndpoints } from "#api/endpoints/share-endpoints.ts";
import type { ShareLink } from "#api/share.ts";
import { sharedObjectText } from "#core/shared-object-text.ts";
import { call } from "../../farm/ask.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { useNow } from "../../parts/now.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { shareLinksQuery } from "./load.ts";
import "./share-links.css";

/** Lists share links, and revokes them. */
export function ShareLinksPage() {
  const { data: links } = useSuspenseQuery(shareLinksQuery);
  usePageTitle("Share links");
  return (
    <div className="page share-links">
      <h1>Share links</h1>
      <p className="faint">
        Whoever has a link reads one log, output or comparison without a right on the farm. You see
        your own links; administrators of the farm see all. The button <em>Share</em> of a log, an
        output and a comparison makes one.
      </p>
      {links.length === 0 ? (
        <p>There is no share link.</p>
      ) : (
        <ul className="share-list">
          {links.map((link) => (
            <Item key={link.id} link={link} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Item({ link }: { readonly link: ShareLink }) {
  const now = useNow();
  const { object, repository, madeBy, madeAt, openedAt, expiresAt } = link;
  const isOver = link.revokedAt !== null || Date.parse(expiresAt) <= now;
  const what = shownText(sharedObjectText(object));
  return (
    <li className="card">
      <span className="what">
        {object.kind === "comparison" ? (
          <span className="main">{what}</span>
        ) : (
          <Link
            className="main"
            to="/graphs/$id/jobs/$name"
            params={{ id: object.graph, name: object.job }}
          >
            {what}
          </Link>
        )}
        <span className="faint">
          {repository === "" ? "the whole farm" : shownText(repository)} · by {shownText(madeBy)},{" "}
          <Ago time={madeAt} /> ·{" "}
          {openedAt === null ? (
            "not opened yet"
          ) : (
            <>
              opened first <Ago time={openedAt} />
            </>
          )}
        </span>
      </span>
      <End link={link} isOver={isOver} />
      {isOver ? null : <RevokeButton link={link} what={what} />}
    </li>
  );
}

function End({ link, isOver }: { readonly link: ShareLink; readonly isOver: boolean }) {
  const { expiresAt, revokedAt, revokedBy } = link;
  if (revokedAt !== null) {
    return (
      <span className="faint">
        revoked by {shownText(revokedBy ?? "nobody")}, <Ago time={revokedAt} />
      </span>
    );
  }
  return (
    <span className={isOver ? "faint" : ""}>
      {isOver ? "ended" : "until"}{" "}
      <time dateTime={expiresAt}>{new Date(expiresAt).toLocaleString()}</time>
    </span>
  );
}

function RevokeButton({ link, what }: { readonly link: ShareLink; readonly what: string }) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => call(shareEndpoints.revokeShareLink, { params: { id: link.id } }),
    onSettled: () => client.invalidateQueries(shareLinksQuery),
  });
  return (
    <>
      <ConfirmButton
        mild
        label="Revoke…"
        question={`Revoke the link to ${what}?`}
        confirm="Revoke the link"
        busy={revoking.isPending}
        onConfirm={() => revoking.mutate()}
      >
        Whoever has it cannot open it any more. This cannot be undone; a new link can be made.
      </ConfirmButton>
      {revoking.error === null ? null : <p role="alert">{revoking.error.message}</p>}
    </>
  );
}
