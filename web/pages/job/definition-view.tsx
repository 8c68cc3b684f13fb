import { useState } from "react";
import type { JobDetail } from "#api/graph.ts";
import { ChangedParts } from "../../parts/changed-parts.tsx";
import { definitionText } from "../../parts/definition-text.ts";
import { CustomiseDialog } from "./customise-dialog.tsx";

/** The definition to run, and its customisation: the patch marks the difference. */
export function DefinitionView({ detail }: { readonly detail: JobDetail }) {
  const [isOpen, setOpen] = useState(false);
  const { definition, origin } = detail;
  const isCustomised = origin.patch !== null;
  return (
    <div className="job-main job-reading">
      <div className="row">
        <h2>{isCustomised ? "As it runs here" : "Definition"}</h2>
        <span className="grow" />
        <button type="button" onClick={() => setOpen(true)}>
          Customise…
        </button>
      </div>
      <pre className="definition" tabIndex={0}>
        {definitionText(definition)}
      </pre>
      {isCustomised ? (
        <>
          <h2>Changed for this graph only</h2>
          <div className="diff-lines">
            <ChangedParts
              parts={origin.changes.map(({ path, was, is }) => ({ path, before: was, after: is }))}
            />
          </div>
          <div className="beside">
            <section>
              <h2>Original definition</h2>
              <pre className="definition" tabIndex={0}>
                {definitionText(origin.template)}
              </pre>
            </section>
            <section>
              <h2>The patch</h2>
              <pre className="definition" tabIndex={0}>
                {JSON.stringify(origin.patch, undefined, 2)}
              </pre>
            </section>
          </div>
        </>
      ) : (
        <p className="faint">The definition was not changed for this graph.</p>
      )}
      {isOpen ? <CustomiseDialog detail={detail} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}
