// Counts as the project's other test runners do: a line for each test that failed or could not run, then "N passed, N failed" (", N skipped").
export default async function* reporter(events) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for await (const { type, data } of events) {
    if (type === "test:stderr" || type === "test:stdout") yield data.message;
    if ((type !== "test:pass" && type !== "test:fail") || data.details?.type === "suite") continue;
    if (data.skip !== undefined) {
      skipped += 1;
      yield `skipped: ${data.name}: ${data.skip}\n`;
    } else if (type === "test:pass") {
      passed += 1;
    } else {
      failed += 1;
      const error = data.details.error.cause ?? data.details.error;
      yield `not ok: ${data.name}\n${String(error?.message ?? error).replace(/^/gm, "    ")}\n`;
    }
  }
  yield `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}\n`;
}
