package io.caravan.testing.simulator;

/**
 * An edit that sabotages the product under test by changing one source file.
 *
 * @param file the file below {@code io/caravan}, without its extension
 * @param from the text to replace, which must occur exactly once
 * @param to the replacement
 */
public record SourceEdit(String file, String from, String to) {}
