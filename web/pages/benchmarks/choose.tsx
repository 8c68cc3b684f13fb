interface Props {
  readonly label: string;
  readonly options: readonly string[];
  readonly value: string | undefined;
  /** The label of an empty selection; undefined when a value is always selected. */
  readonly none?: string;
  readonly words?: (option: string) => string;
  readonly onChange: (value: string | undefined) => void;
}

/** A selection list. Its options are existing values; it is hidden when there is only one. */
export function Choose({ label, options, value, none, words = String, onChange }: Props) {
  const isKnown = value === undefined || options.includes(value);
  if (options.length < 2 && none !== undefined && value === undefined) return null;
  return (
    <label className="choose">
      <span className="faint">{label}</span>
      <select
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      >
        {none === undefined ? null : <option value="">{none}</option>}
        {isKnown ? null : <option value={value}>{value}</option>}
        {options.map((each) => (
          <option key={each} value={each}>
            {words(each)}
          </option>
        ))}
      </select>
    </label>
  );
}
