interface Props {
  readonly state: { readonly words: string; readonly shape: string };
  /** Whether a word is next to it. */
  readonly silent?: boolean;
}

export function StateMark({ state: { words, shape }, silent = false }: Props) {
  return (
    <svg
      className={`icon is-${shape}`}
      {...(silent ? { "aria-hidden": true } : { role: "img", "aria-label": words })}
    >
      {silent ? null : <title>{words}</title>}
      <use href={`#state-${shape}`} />
    </svg>
  );
}

export function StateSign({ state }: Pick<Props, "state">) {
  return (
    <span className={`badge is-${state.shape}`}>
      <StateMark state={state} silent />
      {state.words}
    </span>
  );
}
