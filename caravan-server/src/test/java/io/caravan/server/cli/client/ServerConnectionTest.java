package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

import io.caravan.server.cli.client.ConnectionOptions.Login;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class ServerConnectionTest {
    private static final String HELLO = "%1\r\n$6\r\nserver\r\n$7\r\ncaravan\r\n";

    private static Endpoint server(int port) {
        return new Endpoint(
                new HostPort("127.0.0.1", port), false, new Login("--", null, null, null), null, 0, null, 60_000);
    }

    @Test
    void callAfterCutThrowsLostException() throws Exception {
        try (ServedStore served = new ServedStore()) {
            int port = HostPort.parse(served.address()).port();
            try (ServerConnection connection = ServerConnection.open(server(port))) {
                assertThat(connection.text("ECHO", "a")).isEqualTo("a");
                connection.cut();
                assertThatThrownBy(() -> connection.text("ECHO", "a"))
                        .isInstanceOf(ServerConnection.LostException.class)
                        .hasMessageContaining(served.address());
            }
        }
    }

    private interface Client {
        void use(ServerConnection connection) throws IOException;
    }

    /** Runs a client against a server that sends a greeting and these bytes, and then ends its output. */
    private static void withReplies(String replies, Client client) throws Exception {
        withServer(replies, port -> {
            try (ServerConnection connection = ServerConnection.open(server(port))) {
                client.use(connection);
            }
        });
    }

    private interface PortUser {
        void use(int port) throws IOException;
    }

    private static void withServer(String replies, PortUser user) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread server = new Thread(() -> {
                try (Socket socket = listener.accept()) {
                    socket.getOutputStream().write((HELLO + replies).getBytes(StandardCharsets.ISO_8859_1));
                    socket.shutdownOutput();
                    socket.getInputStream().readAllBytes();
                } catch (IOException theClientHasEnough) {
                    // The client may close the connection at any time.
                }
            });
            server.start();
            user.use(listener.getLocalPort());
            server.join();
        }
    }

    @Test
    void statEscapesControlCharacters() throws Exception {
        withServer(
                "$20\r\n# A\r\nproblem:a\u001b[2J\r\n\r\n",
                port -> CommandRun.at("127.0.0.1:" + port, "stat").prints("# A\nproblem: a\\u001b[2J\n"));
        withServer(
                "%1\r\n$4\r\ntype\r\n$4\r\na\n\u001bb\r\n",
                port -> CommandRun.at("127.0.0.1:" + port, "stat", "d").prints("type: a\\n\\u001bb\n"));
    }

    @Test
    void convertsRepliesOfEachType() throws Exception {
        String replies = "+OK\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n_\r\n#t\r\n=7\r\ntxt:abc\r\n*-1\r\n"
                + "*2\r\n:1\r\n*0\r\n%1\r\n+k\r\n$0\r\n\r\n";
        withReplies(replies, connection -> {
            List<Object> expected =
                    Arrays.asList("OK", -7L, "a\r\n", null, null, true, "abc", null, List.of(1L, List.of()));
            for (Object each : expected) {
                Object reply = connection.receive();
                assertThat(reply instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : reply)
                        .isEqualTo(each);
            }
            assertThat(ServerConnection.fields(connection.receive())).isEqualTo(Map.of("k", ""));
        });
    }

    /** An error in a reply, at any position, must affect only the request to which the reply belongs. */
    @Test
    void receivesNextReplyAfterError() throws Exception {
        withReplies("-ERR no\r\n*3\r\n:1\r\n-NOTFOUND gone\r\n:2\r\n:3\r\n", connection -> {
            assertThatThrownBy(connection::receive)
                    .isInstanceOf(ClientException.class)
                    .hasMessage("no");
            assertThatThrownBy(connection::receive)
                    .asInstanceOf(throwable(ClientException.class))
                    .matches(ClientException::isOtherState)
                    .extracting(Throwable::getMessage, STRING)
                    .isEqualTo("gone");
            assertThat(connection.receive()).isEqualTo(3L);
        });
    }

    /** A client must reject malformed replies. Some of their lengths exceed its memory or the bytes that follow. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "?x\r\n",
                ":x\r\n",
                "$99999999999\r\n",
                "$67108864\r\nx",
                "$1\r\nabc",
                "*999999999999999999\r\n:1\r\n",
                "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n"
                        + "*1\r\n",
                "+abc"
            })
    void invalidReplyLosesConnection(String reply) throws Exception {
        withReplies(
                reply,
                connection -> assertThatThrownBy(connection::receive)
                        .isInstanceOf(ServerConnection.LostException.class)
                        .hasMessageContaining("127.0.0.1:"));
    }

    @Test
    void rejectsUnterminatedLine() throws Exception {
        withReplies(
                "+" + "a".repeat(100_000),
                connection -> assertThatThrownBy(connection::receive).hasMessageContaining("does not end"));
    }
}
