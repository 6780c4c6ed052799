package io.caravan.testing.simulator;

/**
 * A change of one source file, by which a product is sabotaged.
 *
 * @param file below {@code io/caravan}, without its ending
 * @param from stands in the file exactly once
 * @param to stands there instead
 */
public record SourceEdit(String file, String from, String to) {}
