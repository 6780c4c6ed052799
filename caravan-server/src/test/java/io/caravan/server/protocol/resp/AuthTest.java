package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.security.Authenticator;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests authentication with a single password. */
class AuthTest extends RespTestBase {
    @Override
    RespFixture newFixture() throws IOException {
        return RespFixture.with(Authenticator.ofPassword("secret".getBytes(UTF_8)));
    }

    @Test
    void rejectsCommandsBeforeAuthentication() throws IOException {
        replies("+PONG", "PING");
        String commands =
                "RPUSH k v, LLEN k, CARAVAN.READ k FROM 0, SCAN 0, DBSIZE, INFO, CLIENT LIST, MULTI, EXEC, SAVE,"
                        + " COMMAND, ECHO x, NOSUCH";
        for (String command : commands.split(", ")) {
            replies("-NOAUTH Authentication required.", command.split(" "));
        }
        fails("NOAUTH HELLO must be called with the client already authenticated", "HELLO", "3");
        replies("-NOAUTH Authentication required.", "LLEN", "k");
    }

    @Test
    void passwordGrantsAccessUntilReset() throws IOException {
        fails("WRONGPASS ", "AUTH", "wrong");
        fails("WRONGPASS ", "AUTH", "default", "wrong");
        replies("-NOAUTH Authentication required.", "DBSIZE");
        replies("+OK", "AUTH", "secret");
        replies(":1", "RPUSH", "k", "v");
        replies("+RESET", "RESET");
        replies("-NOAUTH Authentication required.", "LLEN", "k");
        replies("+OK", "AUTH", "default", "secret");
        replies(":1", "LLEN", "k");
    }

    @Test
    void helloAuthenticatesOrChangesNothing() throws IOException {
        fails("WRONGPASS ", "HELLO", "3", "AUTH", "default", "wrong", "SETNAME", "me");
        replies("-NOAUTH Authentication required.", "LLEN", "k");
        assertThat(client.call("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"))
                .startsWith("{$server: $caravan");
        replies("$me", "CLIENT", "GETNAME");
        replies("_", "LINDEX", "k", "0");
    }

    @Test
    void reportsPasswordWhenNoneIsConfigured() throws IOException {
        try (RespFixture open = new RespFixture();
                RespClient anyone = open.connect()) {
            assertThat(anyone.call("AUTH", "secret")).startsWith("-ERR AUTH <password> called without any password");
            assertThat(anyone.call("AUTH", "default", "secret")).isEqualTo("+OK");
            assertThat(anyone.call("HELLO", "2", "AUTH", "default", "x")).startsWith("[$server");
        }
    }
}
