package io.caravan.server.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A secrets file that a test can change while a server uses it. */
public final class TestUsers {
    public final Authenticator authenticator;
    private final Path file;

    /** Writes a secrets file with this text. */
    public TestUsers(String text) throws IOException {
        file = Files.createTempFile("users", ".properties");
        file.toFile().deleteOnExit();
        Files.writeString(file, text);
        authenticator = Authenticator.ofSecrets(file);
    }

    /** Replaces a part of the secrets file's text, and reloads the file. */
    public void replace(String part, String replacement) throws IOException {
        Files.writeString(file, Files.readString(file).replace(part, replacement));
        authenticator.reload();
    }
}
