/** Buttons of which exactly one is chosen, such as a period. */
export function Choice<T extends string | number>(props: {
  readonly label: string;
  readonly options: readonly T[];
  readonly chosen: T;
  /** Returns the text of a button; the option itself when absent. */
  readonly textOf?: (option: T) => string;
  readonly onChoose: (option: T) => void;
}) {
  const { label, options, chosen, textOf = String, onChoose } = props;
  return (
    <div className="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === chosen}
          onClick={() => onChoose(option)}
        >
          {textOf(option)}
        </button>
      ))}
    </div>
  );
}
