int FUNCTION(int x);

int FUNCTION(int x)
{
    return x + 5;
}
