import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that start whole farms run first, and the many short ones last.
 *
 * In the opposite order, the run ended with one file that takes minutes while all but one of the workers were idle.
 */
export class WholeFarmsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWhole = ({ project }: TestSpecification) => project.name === "whole";
    return [...sorted.filter(isWhole), ...sorted.filter((file) => !isWhole(file))];
  }
}
