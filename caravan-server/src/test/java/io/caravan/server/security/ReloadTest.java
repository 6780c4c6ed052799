package io.caravan.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.local.LocalAddress;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the rotation of secrets in a secrets file while clients are connected. */
class ReloadTest {
    private static final SocketAddress NOWHERE = new LocalAddress("test");

    private static final String OLD = "a.secret = old\na.permissions = read\n";
    private static final String BOTH = OLD + "a.secret.next = new\n";
    private static final String NEW = "a.secret.next = new\na.permissions = read\n";

    @TempDir
    private Path directory;

    private Path file;
    private Authenticator authenticator;

    @BeforeEach
    void open() throws IOException {
        file = Files.writeString(directory.resolve("secrets"), OLD);
        authenticator = Authenticator.ofSecrets(file);
    }

    private Principal principal(String secret) {
        return authenticator.authenticate(NOWHERE, Authenticator.DEFAULT_USER, secret.getBytes(UTF_8));
    }

    private void change(String text) throws IOException {
        Files.writeString(file, text);
        authenticator.reload();
    }

    @Test
    void oldSecretIsValidUntilRemoved() throws IOException {
        Principal early = principal("old");
        change(BOTH);
        assertThat(principal("old")).isSameAs(early);
        Principal late = principal("new");
        assertThat(late.may(Permission.READ)).isTrue();
        change(NEW);
        assertThat(principal("old")).isNull();
        assertThat(early.revoked()).isTrue();
        assertThat(early.may(Permission.READ)).isFalse();
        assertThat(principal("new")).isSameAs(late);
        assertThat(late.may(Permission.READ)).isTrue();
    }

    @Test
    void changedPermissionsRequireNewAuthentication() throws IOException {
        Principal before = principal("old");
        change("a.secret = old\na.permissions = write\n");
        assertThat(before.may(Permission.READ)).isFalse();
        assertThat(principal("old").may(Permission.WRITE)).isTrue();
    }

    @Test
    void invalidFileIsRejectedAndChangesNothing() {
        Principal before = principal("old");
        assertThatThrownBy(() -> change("nonsense")).isInstanceOf(IOException.class);
        assertThat(principal("old")).isSameAs(before);
        assertThat(before.may(Permission.READ)).isTrue();
    }
}
