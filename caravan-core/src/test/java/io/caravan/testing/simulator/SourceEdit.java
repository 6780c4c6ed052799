package io.caravan.testing.simulator;

/**
 * An edit to one source file, which sabotages the product under test.
 *
 * @param file the file below {@code io/caravan}, without its extension
 * @param from the text to replace, which must occur exactly once
 * @param to the replacement
 */
public record SourceEdit(String file, String from, String to) {}
