import { canonicalJson } from "#core/canonical-json.ts";
import { chooseValues, type Requests } from "#definitions/choose-values.ts";
import type { Templates } from "#definitions/templates.ts";

/**
 * Returns the parameters and switches that have another value than the branch gives them, by name.
 *
 * A submitter that names the value of the branch has chosen nothing.
 */
export function chosenValues(templates: Templates, wanted: Requests): string[] {
  const given = chooseValues(templates, wanted, []);
  const usual = chooseValues(templates, { ...wanted, parameters: {}, switches: {} }, []);
  return [
    ...differing(given.parameters, usual.parameters),
    ...differing(given.switches, usual.switches),
  ].toSorted();
}

type Values = Readonly<Record<string, unknown>>;

function differing(given: Values, usual: Values): string[] {
  const names = Object.keys({ ...usual, ...given });
  return names.filter((name) => canonicalJson(given[name]) !== canonicalJson(usual[name]));
}
