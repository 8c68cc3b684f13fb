import { useMutation, useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Shared } from "#api/share.ts";
import { apiBase } from "../../farm/ask.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { LogView } from "../log/log-view.tsx";
import { downloadShared, headersOf, sharedQuery } from "./load.ts";
import { SharedComparison } from "./shared-comparison.tsx";
import "./shared.css";

/** What a share link opens. The token of the link is the part of the address after `#`. */
export function SharedPage() {
  const token = useLocation({ select: ({ hash }) => hash });
  const { data, error } = useQuery(sharedQuery(token));
  usePageTitle("Shared");
  if (error !== null) {
    return (
      <div className="page">
        <h1>Shared</h1>
        <p role="alert">{error.message}</p>
      </div>
    );
  }
  if (data === undefined) return <p className="faint center">loading…</p>;
  return (
    <div className="page shared">
      <h1>{titleOf(data.object)}</h1>
      <p className="faint">
        {shownText(data.madeBy)} shared this until {new Date(data.expiresAt).toLocaleString()}.
      </p>
      <SharedObjectView token={token} object={data.object} />
    </div>
  );
}

function titleOf(object: Shared["object"]): string {
  switch (object.kind) {
    case "log": {
      const of = object.batch === undefined ? "" : `batch ${object.batch} of `;
      return `Log of ${of}run ${object.run} of ${shownText(object.job)}`;
    }
    case "output":
      return shownText(object.path);
    case "comparison":
      return `${object.before} → ${object.after}`;
  }
}

function SharedObjectView(props: { readonly token: string; readonly object: Shared["object"] }) {
  const { token, object } = props;
  switch (object.kind) {
    case "log":
      return <SharedLog token={token} fileName={`${object.job.replaceAll("/", "-")}.log`} />;
    case "output":
      return <SharedOutput token={token} object={object} />;
    case "comparison":
      return <SharedComparison token={token} />;
  }
}

function SharedLog({ token, fileName }: { readonly token: string; readonly fileName: string }) {
  const headers = useMemo(() => headersOf(token), [token]);
  const [line, setLine] = useState<number>();
  const [find, setFind] = useState("");
  return (
    <LogView
      url={`${apiBase}/shared/log`}
      headers={headers}
      fileName={fileName}
      line={line}
      find={find}
      onLine={setLine}
      onFind={setFind}
    />
  );
}

function SharedOutput(props: {
  readonly token: string;
  readonly object: Extract<Shared["object"], { kind: "output" }>;
}) {
  const { token, object } = props;
  const saving = useMutation({ mutationFn: () => downloadShared(token, object.path) });
  return (
    <>
      <p>
        An output of run {object.run} of the job {shownText(object.job)}.
      </p>
      <p>
        <button
          type="button"
          className="primary"
          disabled={saving.isPending}
          onClick={() => saving.mutate()}
        >
          Download
        </button>
      </p>
      {saving.error === null ? null : <p role="alert">{saving.error.message}</p>}
    </>
  );
}
