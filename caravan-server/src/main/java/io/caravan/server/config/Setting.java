package io.caravan.server.config;

/**
 * An effective setting: its name in the file of {@code --config}, its value as it was written, or {@code -} if it has
 * none, and a readable description of its source. The value is never a secret.
 */
public record Setting(String name, String value, String source) {}
