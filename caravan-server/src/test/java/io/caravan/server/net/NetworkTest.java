package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.testing.Eventually;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests network connections without a real protocol. */
class NetworkTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Network network = new Network(new NetworkConfig(Transport.NIO, 2, NetworkLimits.defaults(), null));
    private final DelayedProtocol protocol = new DelayedProtocol();
    private InetSocketAddress address;

    /** A protocol that delays the setup of connections until the test allows it. */
    private static final class DelayedProtocol implements WireProtocol {
        final CountDownLatch setup = new CountDownLatch(1);
        volatile Channel channel;
        volatile boolean ended;
        Duration idleTimeout = Duration.ZERO;

        @Override
        public Connection connect(Channel accepted, ConnectionMemory memory) {
            channel = accepted;
            try {
                setup.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            return new Delayed(accepted, memory);
        }

        @Override
        public Duration idleTimeout() {
            return idleTimeout;
        }

        @Override
        public ByteBuf tooManyConnections() {
            return Unpooled.EMPTY_BUFFER;
        }

        /** A connection that closes when it is ended. */
        private final class Delayed extends Connection {
            Delayed(Channel accepted, ConnectionMemory memory) {
                super(accepted, memory);
            }

            @Override
            public boolean idle() {
                return true;
            }

            @Override
            public long unfinishedRequest() {
                return 0;
            }

            @Override
            public void requestTimedOut() {}

            @Override
            public void end() {
                ended = true;
                channel.close();
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                ReferenceCountUtil.release(message);
            }
        }
    }

    @BeforeEach
    void listen() throws IOException {
        address = network.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "--test", protocol);
    }

    @AfterEach
    void stop() {
        protocol.setup.countDown();
        network.drain(TIMEOUT);
        network.close();
    }

    private Socket connect() throws IOException {
        return new Socket(address.getAddress(), address.getPort());
    }

    @Test
    void endsConnectionSetUpDuringDrain() throws Exception {
        try (Socket late = connect()) {
            Eventually.await("it is accepted", () -> protocol.channel != null);
            network.drain(TIMEOUT);
            protocol.setup.countDown();
            Eventually.await("it is reported", () -> protocol.ended);
            assertThat(late.getInputStream().read()).isNegative();
        }
    }

    @ParameterizedTest
    @EnumSource
    void configuresTcpKeepalive(Transport transport) throws Exception {
        assumeTrue(transport.unavailable() == null);
        Network each = new Network(new NetworkConfig(transport, 1, NetworkLimits.defaults(), null));
        protocol.setup.countDown();
        InetSocketAddress there =
                each.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "--test", protocol);
        try (Socket client = new Socket(there.getAddress(), there.getPort())) {
            assertThat(client.isConnected()).isTrue();
            Eventually.await("it is there", () -> each.connections().size() == 1);
            assertThat(protocol.channel.config().getOption(ChannelOption.SO_KEEPALIVE))
                    .isTrue();
            List<Integer> options = transport.keepaliveOptions.stream()
                    .map(option -> protocol.channel.config().getOption(option))
                    .toList();
            assertThat(options).containsExactly(200, 33, 3);
            assertThat(options.get(0) + options.get(1) * options.get(2))
                    .isLessThanOrEqualTo((int) Transport.KEEPALIVE.toSeconds());
        } finally {
            each.drain(TIMEOUT);
            each.close();
        }
    }

    /** A connection without a configured idle timeout must use its protocol's timeout, which is zero in other tests. */
    @Test
    void usesProtocolIdleTimeoutWhenUnconfigured() throws Exception {
        protocol.setup.countDown();
        protocol.idleTimeout = Duration.ofMillis(100);
        NetworkLimits limits = TestLimits.of(2, 1, 1, Duration.ofMillis(100), null);
        try (Network each = new Network(new NetworkConfig(Transport.NIO, 1, limits, null))) {
            InetSocketAddress there =
                    each.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "--test", protocol);
            try (Socket client = new Socket(there.getAddress(), there.getPort())) {
                assertThat(client.getInputStream().read()).isNegative();
            }
        }
    }

    @Test
    void eventLoopExitIsFatalWhileNetworkIsOpen() throws Exception {
        AtomicReference<Throwable> problem = new AtomicReference<>();
        Thread broken = network.new LoopThreads().newThread(() -> {});
        broken.setUncaughtExceptionHandler((thread, thrown) -> problem.set(thrown));
        broken.start();
        broken.join();
        assertThat(FatalErrors.fatal(problem.get())).isTrue();
        network.close();
        Thread closed = network.new LoopThreads().newThread(() -> {});
        closed.setUncaughtExceptionHandler((thread, thrown) -> problem.set(null));
        closed.start();
        closed.join();
        assertThat(problem.get()).isNotNull();
    }

    @Test
    void namesIpv6AddressInBrackets() {
        assertThatThrownBy(() -> Network.occupy(new InetSocketAddress("2001:db8::1", 1), "--resp"))
                .hasMessageStartingWith("cannot listen on [2001:db8:0:0:0:0:0:1]:1: ");
    }
}
