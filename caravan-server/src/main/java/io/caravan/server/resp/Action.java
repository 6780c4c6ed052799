package io.caravan.server.resp;

import io.netty.channel.Channel;

/** What a command does. Each kind says where it runs and how it answers. */
sealed interface Action {

    /** Answers at once, on the event loop. */
    @FunctionalInterface
    non-sealed interface Immediate extends Action {
        Reply run(Session session, Command command);
    }

    /** Hands a change to the store, on the event loop, and answers once it is durable. */
    @FunctionalInterface
    non-sealed interface Write extends Action {
        void run(Command command, PendingReply place);
    }

    /** Reads from the store, on a reading thread. */
    @FunctionalInterface
    non-sealed interface Read extends Action {
        void run(Command command, PendingReply place, Channel channel);
    }
}
