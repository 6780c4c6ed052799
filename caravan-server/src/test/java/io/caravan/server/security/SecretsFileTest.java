package io.caravan.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import io.netty.channel.local.LocalAddress;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the content of secrets files, and the errors about invalid files. */
class SecretsFileTest {
    private static final SocketAddress NOWHERE = new LocalAddress("test");

    private static final String SECRET = "hunter2hunter2";

    @TempDir
    private Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("secrets"), text);
    }

    private Authenticator authenticator(String text) throws IOException {
        return Authenticator.ofSecrets(file(text));
    }

    private static Principal principal(Authenticator authenticator, String secret) {
        return authenticator.authenticate(NOWHERE, Authenticator.DEFAULT_USER, secret.getBytes(UTF_8));
    }

    @Test
    void limitsPermissionsToUserPrefixes() throws IOException {
        Authenticator authenticator = authenticator("""
                # What an editor may do.
                editor.secret = hunter2hunter2
                editor.permissions = read, write
                editor.prefixes = letters/, drafts/
                viewer.secret = only-looking
                viewer.permissions = read
                """);
        assertThat(authenticator.required()).isTrue();
        Principal editor = principal(authenticator, SECRET);
        assertThat(editor.name()).isEqualTo("editor");
        assertThat(editor.may(Permission.READ)).isTrue();
        assertThat(editor.may(Permission.ADMIN)).isFalse();
        assertThat(editor.may(Permission.WRITE, DocumentName.of("letters/1"))).isTrue();
        assertThat(editor.may(Permission.READ, DocumentName.of("drafts/"))).isTrue();
        assertThat(editor.may(Permission.READ, DocumentName.of("letters"))).isFalse();
        assertThat(editor.may(Permission.READ, DocumentName.of("xletters/"))).isFalse();
        assertThat(editor.may(Permission.ADMIN, DocumentName.of("letters/1"))).isFalse();
        Principal viewer = principal(authenticator, "only-looking");
        assertThat(viewer.may(Permission.READ, DocumentName.of("anything"))).isTrue();
        assertThat(viewer.may(Permission.WRITE, DocumentName.of("anything"))).isFalse();
        assertThat(principal(authenticator, SECRET + "x")).isNull();
        assertThat(principal(authenticator, "")).isNull();
    }

    @Test
    void acceptsSeveralSecretsAndDigestsPerUser() throws IOException {
        Authenticator authenticator = authenticator("""
                a.secret = old
                a.secret.next = new
                a.sha256.third = 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
                a.permissions = admin
                """);
        assertThat(principal(authenticator, "old").name()).isEqualTo("a");
        assertThat(principal(authenticator, "new").name()).isEqualTo("a");
        assertThat(principal(authenticator, "foo").name()).isEqualTo("a");
    }

    @Test
    void secretAuthenticatesOnlyItsUser() throws IOException {
        Authenticator authenticator = authenticator("""
                a.secret = of-a
                a.permissions = read
                b.secret = of-b
                b.permissions = read
                """);
        assertThat(authenticator
                        .authenticate(NOWHERE, "a", "of-a".getBytes(UTF_8))
                        .name())
                .isEqualTo("a");
        assertThat(authenticator.authenticate(NOWHERE, "b", "of-a".getBytes(UTF_8)))
                .isNull();
        assertThat(authenticator.authenticate(NOWHERE, "nobody", "of-a".getBytes(UTF_8)))
                .isNull();
        assertThat(authenticator
                        .authenticate(NOWHERE, "default", "of-a".getBytes(UTF_8))
                        .name())
                .isEqualTo("a");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            hunter2hunter2                                    | entry 1 is not one of USER.secret
            a.secret=hunter2hunter2                           | a may do nothing
            a.permissions=read                                | a has no secret
            a.secret=hunter2hunter2\\na.permissions=fly       | a.permissions is not a list of read, write and admin
            a.secret=                                         | a.secret is empty
            a.secret=x\\na.permissions=read\\na.prefixes=,   | a.prefixes names no prefix
            a.secret=x\\na.permissions=read\\na.prefixes=, , | a.prefixes names no prefix
            a.sha256=hunter2hunter2                           | a.sha256 is not the 64 digits
            a.permissions.x=read                              | a.permissions.x must end with .permissions
            default.secret=hunter2hunter2                     | default.secret names the user that stands for any
            a.secret=hunter2hunter2\\na.secret=hunter2hunter2 | entry 2 has the name of one before it
            a.secret=hunter2hunter2\\na.secret.b=hunter2hunter2\\na.permissions=read | a has a secret that occurs twice
            #nothing                                          | has no secrets
            a.secret=\\u00zz                                  | Malformed
            """)
    void reportsInvalidFileWithoutItsSecrets(String text, String problem) {
        assertThatThrownBy(() -> authenticator(text.replace("\\n", "\n")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(directory.resolve("secrets").toString())
                .hasMessageContaining(problem)
                .message()
                .doesNotContain(SECRET);
    }

    @Test
    void reportsMissingFile() {
        assertThatThrownBy(() -> Authenticator.ofSecrets(directory.resolve("absent")))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(directory.resolve("absent").toString());
    }

    @Test
    void passwordFileRequiresOneLine() throws IOException {
        Authenticator authenticator = Authenticator.ofPassword(file("two words\n"));
        Principal principal = principal(authenticator, "two words");
        assertThat(principal.name()).isEqualTo("default");
        for (Permission permission : Permission.values()) {
            assertThat(principal.may(permission, DocumentName.of("any"))).isTrue();
        }
        assertThat(principal(authenticator, "two words\n")).isNull();
        for (String wrong : new String[] {"", "\n", "a\nb\n"}) {
            Path file = file(wrong);
            assertThatThrownBy(() -> Authenticator.ofPassword(file)).hasMessageContaining("must hold one line");
        }
    }

    @Test
    void everyClientIsAnyoneWithoutAuthentication() {
        Authenticator open = Authenticator.open();
        assertThat(open.required()).isFalse();
        assertThat(principal(open, "x")).isSameAs(Principal.ANYONE);
        assertThat(Principal.ANYONE.may(Permission.ADMIN, DocumentName.of("any")))
                .isTrue();
    }
}
