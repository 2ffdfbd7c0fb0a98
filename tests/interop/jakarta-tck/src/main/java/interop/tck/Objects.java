package interop.tck;

import com.sun.ts.lib.porting.TSJMSObjectsInterface;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Queue;
import jakarta.jms.QueueConnectionFactory;
import jakarta.jms.Topic;
import jakarta.jms.TopicConnectionFactory;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.apache.qpid.jms.JmsQueue;
import org.apache.qpid.jms.JmsTopic;

/** Gives the TCK's tests the objects of Apache Qpid JMS. Tests run side by side, so each thread has its destinations. */
public final class Objects implements TSJMSObjectsInterface {
    /** The system property with the server's URL. */
    static final String URL = "interop.tck.url";

    @Override
    public Queue getQueue(String name) {
        return new JmsQueue("tck." + name + "." + Thread.currentThread().getId());
    }

    @Override
    public Topic getTopic(String name) {
        return new JmsTopic("tck/" + name + "/" + Thread.currentThread().getId());
    }

    @Override
    public ConnectionFactory getConnectionFactory(String name) {
        return factory();
    }

    @Override
    public QueueConnectionFactory getQueueConnectionFactory(String name) {
        return factory();
    }

    @Override
    public TopicConnectionFactory getTopicConnectionFactory(String name) {
        return factory();
    }

    private static JmsConnectionFactory factory() {
        return new JmsConnectionFactory(System.getProperty(URL));
    }
}
