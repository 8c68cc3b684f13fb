import { bazelRecipes } from "./bazel-recipes.ts";
import { httpCacheRecipes } from "./http-cache-recipes.ts";
import { rev2Recipes } from "./rev2-recipes.ts";

/** `npm test` uses these lines with the tools that are available there. */
export const recipes = { ...bazelRecipes, ...httpCacheRecipes, ...rev2Recipes };

export type RecipeName = keyof typeof recipes;

export const recipeNames = Object.keys(recipes) as RecipeName[];
