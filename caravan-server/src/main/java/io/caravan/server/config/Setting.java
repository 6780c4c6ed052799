package io.caravan.server.config;

/**
 * A setting in force; none of a secret.
 *
 * @param name as in the file of {@code --config}
 * @param value as it was written; {@code -} when there is none
 * @param source where it comes from, for people
 */
public record Setting(String name, String value, String source) {}
