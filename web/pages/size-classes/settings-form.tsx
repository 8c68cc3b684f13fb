import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type SizeClassSettingsNow, sizeClassStrategies } from "#api/size-class.ts";
import { Ago } from "../../parts/times.tsx";
import { setSizeClassSettings, sizeClassSettingsQuery } from "./load.ts";
import {
  changeOf,
  type SettingsForm as Form,
  formOf,
  type SettingField,
  settingFields,
  strategyWords,
} from "./settings-words.ts";

/** The settings for choosing classes, to read and to change. */
export function SettingsForm() {
  const { data, error } = useQuery(sizeClassSettingsQuery);
  return (
    <section aria-label="How they are selected" className="size-class-settings">
      <h2>How they are selected</h2>
      {error === null ? null : (
        <p role="alert" className="problem">
          {error.message}
        </p>
      )}
      {data === undefined ? null : <Fields key={JSON.stringify(data.settings)} now={data} />}
    </section>
  );
}

function Fields({ now }: { readonly now: SizeClassSettingsNow }) {
  const client = useQueryClient();
  const [form, setForm] = useState(() => formOf(now.settings));
  const change = (next: Partial<Form>) => setForm((before) => ({ ...before, ...next }));
  const changed = changeOf(form, now.settings);
  const say = useMutation({
    mutationFn: setSizeClassSettings,
    onSuccess: (answer) => client.setQueryData(sizeClassSettingsQuery.queryKey, answer),
  });
  const problem = typeof changed === "string" ? changed : say.error?.message;
  const isChanged = typeof changed === "string" || Object.keys(changed).length > 0;
  const [own, others] = partition(form.strategy);
  return (
    <form className="form" onSubmit={(event) => event.preventDefault()}>
      <div className="form-line">
        <label className="stacked strategy">
          Strategy
          <select
            value={form.strategy}
            onChange={(event) =>
              change({ strategy: event.target.value as (typeof sizeClassStrategies)[number] })
            }
          >
            {sizeClassStrategies.toReversed().map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
          <span className="faint">{strategyWords[form.strategy]}</span>
        </label>
        {own.map((field) => (
          <NumberSetting key={field.name} field={field} now={now} form={form} onChange={change} />
        ))}
      </div>
      {form.strategy === "grange" ? (
        <label>
          <input
            type="checkbox"
            checked={form.greaterMayTake}
            onChange={(event) => change({ greaterMayTake: event.target.checked })}
          />{" "}
          An idle larger class may run actions for which a smaller one was selected
        </label>
      ) : null}
      {others.length === 0 ? null : (
        <details>
          <summary>Settings of other strategies</summary>
          <div className="form-line">
            {others.map((field) => (
              <NumberSetting
                key={field.name}
                field={field}
                now={now}
                form={form}
                onChange={change}
              />
            ))}
          </div>
        </details>
      )}
      {problem === undefined ? null : (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      <div className="button-row">
        <button
          type="submit"
          className="primary"
          disabled={typeof changed === "string" || !isChanged || say.isPending}
          onClick={() => typeof changed !== "string" && say.mutate(changed)}
        >
          {say.isPending ? "Saving…" : "Save"}
        </button>
        {isChanged ? (
          <button type="button" onClick={() => setForm(formOf(now.settings))}>
            Cancel
          </button>
        ) : null}
        <span className="faint">
          {now.changedBy === null || now.changedAt === null ? (
            "All settings have their defaults."
          ) : (
            <>
              Changed by {now.changedBy} <Ago time={now.changedAt} />.
            </>
          )}
        </span>
      </div>
    </form>
  );
}

function partition(strategy: Form["strategy"]): [SettingField[], SettingField[]] {
  const own = settingFields.filter(({ of }) => of.includes(strategy));
  return [own, settingFields.filter((field) => !own.includes(field))];
}

function NumberSetting(props: {
  readonly field: SettingField;
  readonly now: SizeClassSettingsNow;
  readonly form: Form;
  readonly onChange: (change: Partial<Form>) => void;
}) {
  const { name, label, hint, of, unit } = props.field;
  const usual = String(props.now.usual[name] / unit);
  return (
    <label className="stacked">
      {label}
      <input
        type="text"
        inputMode="decimal"
        placeholder={`${usual} (default)`}
        value={props.form[name]}
        onChange={(event) => props.onChange({ [name]: event.target.value })}
      />
      <span className="faint">
        {hint}; default {usual}
        {of.includes(props.form.strategy) ? "" : ` (${of.join(", ")})`}
      </span>
    </label>
  );
}
