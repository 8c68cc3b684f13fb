import { useQuery } from "@tanstack/react-query";
import type { StoreStanding } from "#api/store.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { Ago } from "../../parts/times.tsx";
import { storeQuery } from "./load.ts";
import { countText } from "./words.ts";

/** The size of the farm's store, and the removed bytes. */
export function StoreLine() {
  const { data } = useQuery(storeQuery);
  if (data === undefined) return null;
  const { counted, evicted, limitBytes, scrubbed } = data;
  return (
    <section aria-label="The farm’s store" className="store-line">
      <p>
        {counted === null ? (
          "The farm’s store has not been counted yet"
        ) : (
          <>
            The farm’s store contains{" "}
            <strong className="number">{memorySizeText(counted.bytes)}</strong> in{" "}
            {countText(counted.blobs, "blob")}
          </>
        )}
        {limitBytes === null
          ? "; it may grow as large as the disk."
          : `, of at most ${memorySizeText(limitBytes)}.`}{" "}
        {counted !== null && counted.overBytes > 0 ? <Over counted={counted} /> : null}
        {evicted === null ? null : (
          <span className="faint">
            Least recently used blobs were deleted <Ago time={evicted.at} />:{" "}
            {memorySizeText(evicted.bytes)}, and {countText(evicted.names, "result")} that named
            them.
          </span>
        )}
        {scrubbed === null ? null : <Checked scrubbed={scrubbed} />}
      </p>
      {counted === null || limitBytes === null ? null : (
        <meter
          aria-label="How full the store is"
          min={0}
          max={limitBytes}
          high={limitBytes * 0.99}
          value={counted.bytes}
        />
      )}
    </section>
  );
}

function Checked({ scrubbed }: { readonly scrubbed: NonNullable<StoreStanding["scrubbed"]> }) {
  return (
    <span className={scrubbed.corrupt > 0 ? "is-failed" : "faint"}>
      {" "}
      All blobs were checked <Ago time={scrubbed.at} />:{" "}
      {scrubbed.corrupt === 0
        ? "none was corrupt."
        : `${countText(scrubbed.corrupt, "corrupt blob")} removed. The disk may be failing.`}
    </span>
  );
}

function Over({ counted }: { readonly counted: NonNullable<StoreStanding["counted"]> }) {
  return (
    <strong className="is-failed">
      The store is {memorySizeText(counted.overBytes)} over its limit:{" "}
      {memorySizeText(counted.youngBytes)} were requested within 3 hours, and{" "}
      {memorySizeText(counted.heldBytes)} are needed by running work. Increase --store-limit.{" "}
    </strong>
  );
}
