/** The shapes of states for cells of a few pixels: `<use href="#cell-failed">`. */
export function CellShapes() {
  return (
    <svg className="sprite" aria-hidden="true">
      <symbol id="cell-succeeded" viewBox="0 0 10 10">
        <rect width="10" height="10" rx="2" fill="currentColor" opacity="0.75" />
      </symbol>
      <symbol id="cell-failed" viewBox="0 0 10 10">
        <rect width="10" height="10" rx="2" fill="currentColor" />
        <path d="M3 3l4 4m0-4l-4 4" className="upon" />
      </symbol>
      <symbol id="cell-running" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
        <rect x="3" y="3" width="4" height="4" rx="1" fill="currentColor" />
      </symbol>
      <symbol id="cell-queued" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
      </symbol>
      <symbol id="cell-ready" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
        <circle cx="5" cy="5" r="1.2" fill="currentColor" />
      </symbol>
      <symbol id="cell-blocked" viewBox="0 0 10 10">
        <circle cx="5" cy="5" r="1.8" fill="currentColor" />
      </symbol>
      <symbol id="cell-unreachable" viewBox="0 0 10 10">
        <path d="M2 8l6-6" className="line" />
      </symbol>
      <symbol id="cell-waiting" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
        <path d="M4 3v4m2-4v4" className="line" />
      </symbol>
      <symbol id="cell-expired" viewBox="0 0 10 10">
        <path d="M2 2h6L5 5zm3 3l3 3H2z" className="line" />
      </symbol>
      <symbol id="cell-coalesced" viewBox="0 0 10 10">
        <circle cx="3.6" cy="5" r="2.4" className="line" />
        <circle cx="6.4" cy="5" r="2.4" className="line" />
      </symbol>
      <symbol id="cell-inactive" viewBox="0 0 10 10">
        <circle cx="5" cy="5" r="1" fill="currentColor" opacity="0.5" />
      </symbol>
      <symbol id="cell-cancelled" viewBox="0 0 10 10">
        <rect y="3.5" width="10" height="3" rx="1" fill="currentColor" />
      </symbol>
    </svg>
  );
}
