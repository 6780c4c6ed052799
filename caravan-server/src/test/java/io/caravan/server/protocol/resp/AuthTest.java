package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.security.Authenticator;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Authentication with one password. */
class AuthTest extends RespTestBase {
    @Override
    RespFixture newFixture() throws IOException {
        return RespFixture.with(Authenticator.ofPassword("secret".getBytes(UTF_8)));
    }

    @Test
    void nothingIsDoneForStrangers() throws IOException {
        answers("+PONG", "PING");
        String commands =
                "RPUSH k v, LLEN k, CARAVAN.READ k FROM 0, SCAN 0, DBSIZE, INFO, CLIENT LIST, MULTI, EXEC, SAVE,"
                        + " COMMAND, ECHO x, NOSUCH";
        for (String command : commands.split(", ")) {
            answers("-NOAUTH Authentication required.", command.split(" "));
        }
        fails("NOAUTH HELLO must be called with the client already authenticated", "HELLO", "3");
        answers("-NOAUTH Authentication required.", "LLEN", "k");
    }

    @Test
    void whoShowsThePasswordMayDoAll() throws IOException {
        fails("WRONGPASS ", "AUTH", "wrong");
        fails("WRONGPASS ", "AUTH", "default", "wrong");
        answers("-NOAUTH Authentication required.", "DBSIZE");
        answers("+OK", "AUTH", "secret");
        answers(":1", "RPUSH", "k", "v");
        answers("+RESET", "RESET");
        answers("-NOAUTH Authentication required.", "LLEN", "k");
        answers("+OK", "AUTH", "default", "secret");
        answers(":1", "LLEN", "k");
    }

    @Test
    void helloAuthenticatesOrDoesNothing() throws IOException {
        fails("WRONGPASS ", "HELLO", "3", "AUTH", "default", "wrong", "SETNAME", "me");
        answers("-NOAUTH Authentication required.", "LLEN", "k");
        assertThat(client.call("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"))
                .startsWith("{$server: $caravan");
        answers("$me", "CLIENT", "GETNAME");
        answers("_", "LINDEX", "k", "0");
    }

    @Test
    void aPasswordThatNobodyAskedForIsToldOf() throws IOException {
        try (RespFixture open = new RespFixture();
                RespClient anyone = open.connect()) {
            assertThat(anyone.call("AUTH", "secret")).startsWith("-ERR AUTH <password> called without any password");
            assertThat(anyone.call("AUTH", "default", "secret")).isEqualTo("+OK");
            assertThat(anyone.call("HELLO", "2", "AUTH", "default", "x")).startsWith("[$server");
        }
    }
}
