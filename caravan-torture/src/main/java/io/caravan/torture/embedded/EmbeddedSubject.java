package io.caravan.torture.embedded;

import io.caravan.torture.model.Contents;
import io.caravan.torture.model.StoreModel;
import io.caravan.torture.round.TortureOptions;
import io.caravan.torture.round.TortureSession;
import io.caravan.torture.round.TortureSubject;
import java.io.IOException;

/** Tests a store that is embedded in child processes. */
public final class EmbeddedSubject implements TortureSubject {
    private final TortureOptions options;
    private final String childMain;
    private final LocalSocket socket;

    /**
     * Creates a subject with a socket for the messages of its children.
     *
     * @param childMain main class of the children: {@link TortureChild}, except in tests of the harness
     */
    public EmbeddedSubject(TortureOptions options, String childMain) throws IOException {
        this.options = options;
        this.childMain = childMain;
        socket = LocalSocket.listen();
    }

    @Override
    public StoreModel newModel() {
        return new EmbeddedModel();
    }

    @Override
    public TortureSession work(Shift shift, Contents before) throws IOException {
        return start(true, shift);
    }

    @Override
    public TortureSession readOut(Shift shift) throws IOException {
        return start(false, shift);
    }

    private ChildSession start(boolean work, Shift shift) throws IOException {
        ChildPlan plan = new ChildPlan(socket.path(), options.store(), work, shift, options.workers(), options.lists());
        Message milestone = work ? Message.OPENED : Message.LISTED;
        return ChildSession.start(socket, childMain, plan, options.processLog(), milestone);
    }

    @Override
    public String intrude(Shift shift) throws IOException, InterruptedException {
        try (TortureSession second = readOut(shift)) {
            second.awaitMilestone();
            second.kill();
            return String.join("; ", second.ledger().problems());
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
