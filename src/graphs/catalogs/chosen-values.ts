import { canonicalJson } from "#core/canonical-json.ts";
import { chooseValues, type Requests } from "#definitions/choose-values.ts";
import type { Templates } from "#definitions/templates.ts";

/**
 * Which parameters and switches have another value than they would have on the branch anyway.
 *
 * Who names a value that holds there already has chosen nothing. In the order of their names.
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
