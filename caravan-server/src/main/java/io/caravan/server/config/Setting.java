package io.caravan.server.config;

/**
 * An effective setting, whose value is never a secret.
 *
 * @param name the name in the file of {@code --config}
 * @param value the value as it was written; {@code -} if the setting has no value
 * @param source a readable description of its source
 */
public record Setting(String name, String value, String source) {}
