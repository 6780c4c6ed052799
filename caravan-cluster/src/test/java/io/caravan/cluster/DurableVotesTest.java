package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.MethodDescriptor;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replies to candidates. The directory to fsync before a vote is missing, which shows whether the fsync was tried. */
final class DurableVotesTest {
    @TempDir
    Path directory;

    private final List<Object> sent = new ArrayList<>();
    private Path folder;

    @BeforeEach
    void aFolderThatIsMissing() {
        folder = directory.resolve("current");
    }

    private static RequestVoteReplyProto answer(boolean granted) {
        return RequestVoteReplyProto.newBuilder()
                .setServerReply(RaftRpcReplyProto.newBuilder().setSuccess(granted))
                .build();
    }

    private void send(Object message) {
        new DurableVotes(folder).interceptCall(new Call(), new Metadata(), (call, headers) -> {
            call.sendMessage(message);
            return new ServerCall.Listener<>() {};
        });
    }

    @Test
    void aVoteIsNotGivenUnlessItIsDurable() throws IOException {
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> send(answer(true)))
                .withMessageContaining("cannot fsync the vote of this node")
                .withMessageContaining("current");
        assertThat(sent).isEmpty();

        Files.createDirectory(folder);
        send(answer(true));
        assertThat(sent).containsExactly(answer(true));
    }

    @Test
    void otherAnswersDoNotWait() {
        send(answer(false));
        send("entries");
        assertThat(sent).containsExactly(answer(false), "entries");
    }

    @Test
    void aNodeAnswersSo() throws IOException {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", GroupConfig.Start.CREATE);
            Parameters parameters = RaftSettings.parameters(config);
            assertThat(GrpcConfigKeys.Server.servicesCustomizer(parameters)).isInstanceOf(DurableVotes.class);
        }
    }

    private final class Call extends ServerCall<Object, Object> {
        @Override
        public void request(int numMessages) {}

        @Override
        public void sendHeaders(Metadata headers) {}

        @Override
        public void sendMessage(Object message) {
            sent.add(message);
        }

        @Override
        public void close(Status status, Metadata trailers) {}

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public MethodDescriptor<Object, Object> getMethodDescriptor() {
            throw new UnsupportedOperationException();
        }
    }
}
