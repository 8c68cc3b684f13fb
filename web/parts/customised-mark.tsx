/** Marks a graph with customised jobs: it differs from its definitions. */
export function CustomisedMark({ customised }: { readonly customised: number }) {
  if (customised === 0) return null;
  const jobs = customised === 1 ? "1 job" : `${customised} jobs`;
  return (
    <>
      {" "}
      <span className="badge" title={`${jobs} changed for this graph`}>
        customised
      </span>
    </>
  );
}
