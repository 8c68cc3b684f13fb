interface Props {
  readonly legend: string;
  readonly options: readonly string[];
  readonly ticked: readonly string[];
  readonly onChange: (ticked: readonly string[]) => void;
}

/** A selection of some list entries; an empty selection means the default. */
export function Ticks({ legend, options, ticked, onChange }: Props) {
  if (options.length === 0) return null;
  return (
    <fieldset className="choices lab-ticks">
      <legend>
        {legend} <span className="faint">{ticked.length === 0 ? "as usual" : ""}</span>
      </legend>
      {options.map((each) => (
        <label key={each}>
          <input
            type="checkbox"
            checked={ticked.includes(each)}
            onChange={({ target }) =>
              onChange(target.checked ? [...ticked, each] : ticked.filter((one) => one !== each))
            }
          />{" "}
          {each}
        </label>
      ))}
    </fieldset>
  );
}
